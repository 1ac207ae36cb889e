/** Background work that a program embeds. */
module org.selene {
    exports org.selene;
}
